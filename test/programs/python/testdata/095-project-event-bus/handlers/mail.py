def register(bus):
    @bus.on("ordered")
    def confirm(event, item, pieces):
        print(f"mail: thank you for {pieces} × {item}")

    @bus.on("cancelled", priority=1)
    def regret(event, item):
        print(f"mail: we are sorry about the {item}")

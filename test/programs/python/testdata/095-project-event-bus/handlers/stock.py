shelf = {"🦀 crab": 5, "egg": 12}


def register(bus):
    @bus.on("ordered", priority=10)
    def take(event, item, pieces):
        if shelf[item] < pieces:
            raise LookupError(f"only {shelf[item]} of {item}")
        shelf[item] -= pieces
        print(f"stock: {shelf[item]} of {item} left")

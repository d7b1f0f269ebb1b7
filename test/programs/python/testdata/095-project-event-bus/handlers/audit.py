LOG = []


def register(bus):
    @bus.on("*")
    def record(event, **data):
        LOG.append((event, *data.values()))

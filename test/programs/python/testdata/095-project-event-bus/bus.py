from collections import defaultdict


class Bus:
    def __init__(self):
        self._subscribers, self.errors = defaultdict(list), []

    def on(self, event, priority=0):
        def register(handler):
            self._subscribers[event].append((-priority, len(self._subscribers[event]), handler))
            self._subscribers[event].sort(key=lambda entry: entry[:2])
            return handler
        return register

    def publish(self, event, **data):
        for _, _, handler in self._subscribers[event] + self._subscribers["*"]:
            try:
                handler(event, **data)
            except LookupError as error:
                self.errors.append(f"{handler.__name__}: {error}")

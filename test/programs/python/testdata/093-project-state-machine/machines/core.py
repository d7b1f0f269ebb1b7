from collections import Counter


class Refused(Exception):
    pass


class Machine:
    def __init__(self, start, transitions):
        self.state, self.transitions, self._visits = start, transitions, Counter([start])

    def send(self, event):
        entry = self.transitions.get((self.state, event))
        if entry is None:
            return f"{event} is ignored"
        target, action = entry
        try:
            outcome = action() if action else None
        except Refused as reason:
            return f"refused: {reason}"
        self.state = target
        self._visits[target] += 1
        return outcome

    def history(self):
        return {state.name: n for state, n in sorted(self._visits.items(), key=lambda item: item[0].value)}

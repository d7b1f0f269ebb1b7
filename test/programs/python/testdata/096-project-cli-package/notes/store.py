import json
import os
from collections import Counter


class Store:
    def __init__(self, path):
        self.path = path
        self.notes = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.notes = json.load(file)

    def _save(self):
        temporary = self.path + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(self.notes, file)
        os.replace(temporary, self.path)

    def add(self, text, tags):
        self.notes.append({"text": text, "tags": tags, "done": False})
        self._save()
        return len(self.notes)

    def items(self, tag=None):
        return [(n, note) for n, note in enumerate(self.notes, 1) if tag is None or tag in note["tags"]]

    def finish(self, number):
        if not 0 < number <= len(self.notes):
            return False
        self.notes[number - 1]["done"] = True
        self._save()
        return True

    def tags(self):
        return sorted(Counter(tag for note in self.notes for tag in note["tags"]).items())

"""Completion of prefixes with a trie, deletion included."""


class Trie:
    def __init__(self):
        self.children = {}
        self.ends = False

    def insert(self, word):
        node = self
        for letter in word:
            node = node.children.setdefault(letter, Trie())
        node.ends = True

    def find(self, prefix):
        node = self
        for letter in prefix:
            node = node.children.get(letter)
            if node is None:
                return None
        return node

    def words(self, prefix=""):
        if self.ends:
            yield prefix
        for letter in sorted(self.children):
            yield from self.children[letter].words(prefix + letter)

    def complete(self, prefix):
        node = self.find(prefix)
        return list(node.words(prefix)) if node else []

    def delete(self, word):
        """Removes word; true when this node is needed no longer."""
        if not word:
            self.ends = False
        elif word[0] in self.children and self.children[word[0]].delete(word[1:]):
            del self.children[word[0]]
        return not self.ends and not self.children

    def size(self):
        return 1 + sum(child.size() for child in self.children.values())


trie = Trie()
for word in "tea team ten tenor inn in i élan élève 你好 你们 🦀🦀 🦀".split():
    trie.insert(word)
print(trie.size(), "nodes:", list(trie.words()))
for prefix in ("te", "in", "él", "你", "🦀", "x"):
    print(f"{prefix}: {trie.complete(prefix)}")
for word in ("team", "ten", "élan", "absent"):
    trie.delete(word)
print(trie.size(), "nodes:", list(trie.words()))

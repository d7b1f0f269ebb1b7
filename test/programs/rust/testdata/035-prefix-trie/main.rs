//! A compressed trie with longest-prefix lookups, as a router would use it.
use std::fmt::Debug;

#[derive(Debug)]
struct Node<V> {
    label: String,
    value: Option<V>,
    children: Vec<Node<V>>,
}

fn common(a: &str, b: &str) -> usize {
    a.chars()
        .zip(b.chars())
        .take_while(|(x, y)| x == y)
        .map(|(x, _)| x.len_utf8())
        .sum()
}

impl<V: Debug> Node<V> {
    fn new(label: &str, value: Option<V>) -> Self {
        Node {
            label: label.to_string(),
            value,
            children: Vec::new(),
        }
    }

    fn insert(&mut self, key: &str, value: V) {
        if key.is_empty() {
            self.value = Some(value);
            return;
        }
        for child in &mut self.children {
            let shared = common(&child.label, key);
            if shared == 0 {
                continue;
            }
            if shared < child.label.len() {
                let mut lower = Node::new(&child.label[shared..], child.value.take());
                lower.children = std::mem::take(&mut child.children);
                child.label.truncate(shared);
                child.children.push(lower);
            }
            return child.insert(&key[shared..], value);
        }
        self.children.push(Node::new(key, Some(value)));
        self.children.sort_by(|a, b| a.label.cmp(&b.label));
    }

    fn longest<'a>(&'a self, key: &str) -> Option<(usize, &'a V)> {
        let deeper = self.children.iter().find_map(|c| {
            let rest = key.strip_prefix(c.label.as_str())?;
            c.longest(rest).map(|(n, v)| (n + c.label.len(), v))
        });
        deeper.or(self.value.as_ref().map(|v| (0, v)))
    }

    fn outline(&self, depth: usize) {
        println!("{}{:?} {:?}", "  ".repeat(depth), self.label, self.value);
        self.children.iter().for_each(|c| c.outline(depth + 1));
    }
}

fn main() {
    let mut root = Node::new("", None);
    for (path, handler) in [
        ("/", "home"),
        ("/users", "list"),
        ("/users/", "one"),
        ("/users/me", "myself"),
        ("/uploads", "files"),
        ("/你好", "greet"),
        ("/你们", "many"),
        ("/🦀", "crab"),
        ("/user", "singular"),
    ] {
        root.insert(path, handler);
    }
    root.outline(0);
    for path in [
        "/users/42",
        "/users/me/photo",
        "/up",
        "/你好/世界",
        "/🦀🦀",
        "nothing",
    ] {
        match root.longest(path) {
            Some((n, handler)) => println!("{path} -> {handler}, rest {:?}", &path[n..]),
            None => println!("{path} -> none"),
        }
    }
}

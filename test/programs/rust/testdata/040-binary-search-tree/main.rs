//! A map as a binary search tree of boxes: insert, remove, iterate.
use std::cmp::Ordering;

#[derive(Debug)]
struct Node<K, V> {
    key: K,
    value: V,
    left: Tree<K, V>,
    right: Tree<K, V>,
}

#[derive(Debug)]
struct Tree<K, V>(Option<Box<Node<K, V>>>);

impl<K: Ord, V> Tree<K, V> {
    fn insert(&mut self, key: K, value: V) -> Option<V> {
        match &mut self.0 {
            None => {
                self.0 = Some(Box::new(Node {
                    key,
                    value,
                    left: Tree(None),
                    right: Tree(None),
                }));
                None
            }
            Some(n) => match key.cmp(&n.key) {
                Ordering::Less => n.left.insert(key, value),
                Ordering::Greater => n.right.insert(key, value),
                Ordering::Equal => Some(std::mem::replace(&mut n.value, value)),
            },
        }
    }

    fn pop_first(&mut self) -> Option<(K, V)> {
        if self.0.as_ref()?.left.0.is_some() {
            return self.0.as_mut()?.left.pop_first();
        }
        let node = *self.0.take()?;
        *self = node.right;
        Some((node.key, node.value))
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        let node = self.0.as_mut()?;
        match key.cmp(&node.key) {
            Ordering::Less => node.left.remove(key),
            Ordering::Greater => node.right.remove(key),
            Ordering::Equal => {
                let mut node = *self.0.take()?;
                if let Some((k, v)) = node.right.pop_first() {
                    self.0 = Some(Box::new(Node {
                        key: k,
                        value: v,
                        left: node.left,
                        right: node.right,
                    }));
                } else {
                    *self = node.left;
                }
                Some(node.value)
            }
        }
    }

    fn iter(&self) -> Iter<'_, K, V> {
        let mut it = Iter { stack: Vec::new() };
        it.descend(self);
        it
    }

    fn depth(&self) -> usize {
        self.0
            .as_ref()
            .map_or(0, |n| 1 + n.left.depth().max(n.right.depth()))
    }
}

struct Iter<'a, K, V> {
    stack: Vec<&'a Node<K, V>>,
}

impl<'a, K, V> Iter<'a, K, V> {
    fn descend(&mut self, mut tree: &'a Tree<K, V>) {
        while let Some(n) = &tree.0 {
            self.stack.push(n);
            tree = &n.left;
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);
    fn next(&mut self) -> Option<Self::Item> {
        let n = self.stack.pop()?;
        self.descend(&n.right);
        Some((&n.key, &n.value))
    }
}

fn main() {
    let mut tree = Tree(None);
    for (i, w) in "mango apple zebra fig kiwi pear banana 你好 🦀 élan"
        .split(' ')
        .enumerate()
    {
        tree.insert(w, i);
    }
    println!(
        "{:?} {:?}",
        tree.insert("fig", 100),
        tree.iter().collect::<Vec<_>>()
    );
    println!(
        "{:?} {:?} {:?}",
        tree.remove(&"mango"),
        tree.remove(&"nothing"),
        tree.pop_first()
    );
    println!(
        "{:?} depth {}",
        tree.iter().map(|(k, _)| *k).collect::<Vec<_>>(),
        tree.depth()
    );
    let mut numbers = Tree(None);
    for i in 0..2000u32 {
        numbers.insert(i.wrapping_mul(2_654_435_761) % 10_007, i);
    }
    let before = numbers.iter().count();
    for k in (0..10_007).step_by(2) {
        numbers.remove(&k);
    }
    let sorted = numbers.iter().zip(numbers.iter().skip(1)).all(|(a, b)| a.0 < b.0);
    println!(
        "{before} keys, {} odd ones left, sorted {sorted}",
        numbers.iter().count()
    );
}

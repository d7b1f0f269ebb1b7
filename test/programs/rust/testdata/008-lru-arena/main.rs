//! An LRU cache: a doubly linked list inside a vector, and a hash map.
use std::collections::HashMap;
use std::hash::Hash;

const NONE: usize = usize::MAX;

struct Node<K, V> {
    key: K,
    value: V,
    prev: usize,
    next: usize,
}

struct Lru<K, V> {
    nodes: Vec<Node<K, V>>,
    index: HashMap<K, usize>,
    head: usize,
    tail: usize,
    capacity: usize,
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    fn new(capacity: usize) -> Self {
        Lru {
            nodes: Vec::new(),
            index: HashMap::new(),
            head: NONE,
            tail: NONE,
            capacity,
        }
    }

    fn unlink(&mut self, i: usize) {
        let (prev, next) = (self.nodes[i].prev, self.nodes[i].next);
        if prev == NONE {
            self.head = next
        } else {
            self.nodes[prev].next = next
        }
        if next == NONE {
            self.tail = prev
        } else {
            self.nodes[next].prev = prev
        }
    }

    fn push_front(&mut self, i: usize) {
        self.nodes[i].prev = NONE;
        self.nodes[i].next = self.head;
        if self.head == NONE {
            self.tail = i
        } else {
            let h = self.head;
            self.nodes[h].prev = i
        }
        self.head = i;
    }

    fn get(&mut self, key: &K) -> Option<&V> {
        let i = *self.index.get(key)?;
        self.unlink(i);
        self.push_front(i);
        Some(&self.nodes[i].value)
    }

    fn put(&mut self, key: K, value: V) -> Option<(K, V)> {
        let mut evicted = None;
        let i = if let Some(&i) = self.index.get(&key) {
            self.nodes[i].value = value;
            self.unlink(i);
            i
        } else if self.nodes.len() < self.capacity {
            self.nodes.push(Node {
                key: key.clone(),
                value,
                prev: NONE,
                next: NONE,
            });
            self.nodes.len() - 1
        } else {
            let i = self.tail;
            self.unlink(i);
            let old = std::mem::replace(
                &mut self.nodes[i],
                Node {
                    key: key.clone(),
                    value,
                    prev: NONE,
                    next: NONE,
                },
            );
            self.index.remove(&old.key);
            evicted = Some((old.key, old.value));
            i
        };
        self.index.insert(key, i);
        self.push_front(i);
        evicted
    }

    fn keys(&self) -> Vec<&K> {
        let real = |i: usize| Some(i).filter(|&i| i != NONE);
        std::iter::successors(real(self.head), |&i| real(self.nodes[i].next))
            .map(|i| &self.nodes[i].key)
            .collect()
    }
}

fn main() {
    let mut cache = Lru::new(3);
    for (i, key) in ["a", "b", "c", "a", "d", "b", "a", "é", "c"]
        .into_iter()
        .enumerate()
    {
        match cache.get(&key) {
            Some(v) => println!("hit  {key} = {v}"),
            None => println!("miss {key}, evicted {:?}", cache.put(key, i)),
        }
    }
    cache.put("é", 99);
    println!("{:?}", cache.keys());
    println!("{:?} {:?}", cache.get(&"é").copied(), cache.get(&"zzz"));
}

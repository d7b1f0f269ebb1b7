//! A tree with shared ownership: Rc, RefCell, Weak parents, no leaks.
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

struct Folder {
    name: String,
    size: Cell<u64>,
    parent: RefCell<Weak<Folder>>,
    children: RefCell<Vec<Rc<Folder>>>,
    dropped: Rc<RefCell<Vec<String>>>,
}

impl Folder {
    fn new(name: &str, size: u64, dropped: &Rc<RefCell<Vec<String>>>) -> Rc<Folder> {
        Rc::new(Folder {
            name: name.into(),
            size: Cell::new(size),
            parent: RefCell::new(Weak::new()),
            children: RefCell::default(),
            dropped: Rc::clone(dropped),
        })
    }

    fn add(self: &Rc<Self>, child: Rc<Folder>) -> Rc<Folder> {
        if let Some(old) = child.parent.borrow().upgrade() {
            old.children.borrow_mut().retain(|c| !Rc::ptr_eq(c, &child));
        }
        *child.parent.borrow_mut() = Rc::downgrade(self);
        self.children.borrow_mut().push(Rc::clone(&child));
        child
    }

    fn path(&self) -> String {
        match self.parent.borrow().upgrade() {
            Some(p) => format!("{}/{}", p.path(), self.name),
            None => self.name.clone(),
        }
    }

    fn total(&self) -> u64 {
        self.size.get() + self.children.borrow().iter().map(|c| c.total()).sum::<u64>()
    }

    fn print(&self, depth: usize) {
        println!(
            "{}{} ({}, {})",
            "│ ".repeat(depth),
            self.name,
            self.size.get(),
            self.total()
        );
        self.children.borrow().iter().for_each(|c| c.print(depth + 1));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.dropped.borrow_mut().push(self.name.clone());
    }
}

fn main() {
    let dropped = Rc::new(RefCell::new(Vec::new()));
    let root = Folder::new("root", 1, &dropped);
    let docs = root.add(Folder::new("docs", 10, &dropped));
    let images = root.add(Folder::new("images", 20, &dropped));
    let crab = docs.add(Folder::new("🦀", 300, &dropped));
    docs.add(Folder::new("héllo 你好", 4000, &dropped));
    crab.size.set(333);
    root.print(0);
    println!("{}", crab.path());
    images.add(Rc::clone(&crab));
    println!(
        "{} | docs {} images {}",
        crab.path(),
        docs.total(),
        images.total()
    );
    println!(
        "strong {} weak {}",
        Rc::strong_count(&crab),
        Rc::weak_count(&images)
    );
    println!("borrowed twice: {}", {
        let _guard = docs.children.borrow();
        docs.children.try_borrow_mut().is_err()
    });
    root.children.borrow_mut().remove(0);
    drop(docs);
    println!("dropped so far: {:?}", dropped.borrow());
    drop(root);
    println!(
        "orphan: {} {:?}",
        images.path(),
        images.parent.borrow().upgrade().is_none()
    );
    drop((images, crab));
    println!("all dropped: {:?}", dropped.borrow());
}

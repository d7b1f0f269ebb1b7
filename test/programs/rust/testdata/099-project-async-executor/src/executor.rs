//! A single-threaded executor whose clock jumps to the next deadline.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Wakes one task by its number.
struct TaskWaker {
    id: u64,
    ready: Arc<Mutex<BTreeSet<u64>>>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.lock().unwrap().insert(self.id);
    }
}

#[derive(Default)]
struct Shared {
    now: Cell<u64>,
    serial: Cell<u64>,
    timers: RefCell<BTreeMap<(u64, u64), Waker>>,
}

#[derive(Clone, Default)]
pub struct Handle(Rc<Shared>);

impl Handle {
    pub fn now(&self) -> u64 {
        self.0.now.get()
    }

    /// Completes when the virtual clock has moved on by so many units.
    pub fn sleep(&self, units: u64) -> impl Future<Output = ()> + use<> {
        let shared = Rc::clone(&self.0);
        let deadline = shared.now.get() + units;
        std::future::poll_fn(move |cx| {
            if shared.now.get() >= deadline {
                return Poll::Ready(());
            }
            let serial = shared.serial.replace(shared.serial.get() + 1);
            shared
                .timers
                .borrow_mut()
                .insert((deadline, serial), cx.waker().clone());
            Poll::Pending
        })
    }
}

#[derive(Default)]
pub struct Executor {
    handle: Handle,
    tasks: RefCell<BTreeMap<u64, Task>>,
    ready: Arc<Mutex<BTreeSet<u64>>>,
}

impl Executor {
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        let id = tasks.len() as u64;
        tasks.insert(id, Box::pin(future));
        self.ready.lock().unwrap().insert(id);
    }

    /// Runs until nothing is left that could wake up; returns the polls made.
    pub fn run(&self) -> usize {
        let mut polls = 0;
        loop {
            let next = self.ready.lock().unwrap().pop_first();
            if let Some(id) = next {
                let Some(mut task) = self.tasks.borrow_mut().remove(&id) else {
                    continue;
                };
                let waker = Waker::from(Arc::new(TaskWaker {
                    id,
                    ready: Arc::clone(&self.ready),
                }));
                polls += 1;
                if task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    self.tasks.borrow_mut().insert(id, task);
                }
                continue;
            }
            let Some(((deadline, _), waker)) = self.handle.0.timers.borrow_mut().pop_first() else {
                return polls;
            };
            self.handle.0.now.set(deadline);
            waker.wake();
        }
    }
}

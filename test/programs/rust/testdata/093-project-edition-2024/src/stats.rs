//! Samples and sliding windows.
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub struct Sample {
    pub sensor: String,
    pub value: f64,
}

pub struct Window {
    size: usize,
    values: VecDeque<f64>,
}

impl Window {
    pub fn new(size: usize) -> Self {
        Window {
            size,
            values: VecDeque::with_capacity(size),
        }
    }

    pub fn push(&mut self, v: f64) {
        if self.values.len() == self.size {
            self.values.pop_front();
        }
        self.values.push_back(v);
    }

    pub fn values(&self) -> &VecDeque<f64> {
        &self.values
    }

    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    pub fn range(&self) -> Option<(f64, f64)> {
        let low = self.values.iter().copied().reduce(f64::min)?;
        let high = self.values.iter().copied().reduce(f64::max)?;
        Some((low, high))
    }
}

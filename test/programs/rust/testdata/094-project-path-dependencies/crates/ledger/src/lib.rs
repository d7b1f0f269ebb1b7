//! Balances by name that never go below zero.
use money::Money;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Ledger {
    balances: BTreeMap<String, Money>,
    journal: Vec<String>,
}

impl Ledger {
    /// Adds to a balance; the currencies must agree and the sum not be negative.
    pub fn post(&mut self, who: &str, amount: Money) -> Result<Money, String> {
        let old = self
            .balances
            .get(who)
            .copied()
            .unwrap_or(Money { cents: 0, ..amount });
        let new = old.checked_add(amount).ok_or("the currencies differ")?;
        if new.cents < 0 {
            return Err(format!("{old} is not enough"));
        }
        self.balances.insert(who.to_string(), new);
        if cfg!(feature = "journal") {
            self.journal.push(format!("{who} {amount:+}"));
        }
        Ok(new)
    }

    pub fn journal(&self) -> &[String] {
        &self.journal
    }
}

"""Many threads move money between accounts; locks keep the sum constant."""
import random
import threading


class Account:
    def __init__(self, name, balance):
        self.name, self.balance, self.lock = name, balance, threading.Lock()


def transfer(source, target, amount):
    first, second = sorted((source, target), key=lambda account: account.name)
    with first.lock, second.lock:
        if source.balance < amount:
            return False
        source.balance -= amount
        target.balance += amount
        return True


def teller(accounts, seed, barrier):
    rng = random.Random(seed)
    barrier.wait()
    for _ in range(2000):
        source, target = rng.sample(accounts, 2)
        transfer(source, target, rng.randint(1, 50))


accounts = [Account(name, 1000) for name in ("Ada", "Bob", "Çelik", "Đorđe")]
barrier = threading.Barrier(6)
threads = [threading.Thread(target=teller, args=(accounts, seed, barrier)) for seed in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("sum:", sum(account.balance for account in accounts))
print("nobody is in debt:", all(account.balance >= 0 for account in accounts))

seats, sold, guard = 10, [], threading.Condition()


def customer(number):
    with guard:
        guard.wait_for(lambda: len(sold) == number)
        if len(sold) < seats:
            sold.append(number)
        guard.notify_all()


buyers = [threading.Thread(target=customer, args=(n,)) for n in reversed(range(seats))]
for buyer in buyers:
    buyer.start()
for buyer in buyers:
    buyer.join(timeout=5)
print("served in order:", sold)
local = threading.local()
local.value = "main"
thread = threading.Thread(target=lambda: print("seen by another thread:", getattr(local, "value", None)))
thread.start()
thread.join()

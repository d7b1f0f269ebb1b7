"""A database in a file: schema, transactions, joins, an aggregate of our own."""
import sqlite3

ORDERS = [("Ada", "tea", 3, 250), ("Bob", "tea", 1, 250), ("Ada", "Kölsch", 2, 420), ("Çem", "寿司", 5, 899)]


class Longest:
    """The longest text of a group."""

    def __init__(self):
        self.best = ""

    def step(self, text):
        self.best = max(self.best, text, key=len)

    def finalize(self):
        return self.best


connection = sqlite3.connect("shop.db")
connection.executescript("""
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);
    CREATE TABLE item (customer INTEGER REFERENCES customer, what TEXT, pieces INTEGER CHECK (pieces > 0), cents INTEGER);
""")
with connection:
    for name in sorted({order[0] for order in ORDERS}):
        connection.execute("INSERT INTO customer (name) VALUES (?)", (name,))
    for name, *rest in ORDERS:
        connection.execute("INSERT INTO item SELECT id, ?, ?, ? FROM customer WHERE name = ?", (*rest, name))

query = """
    SELECT name, count(*), sum(pieces * cents) / 100.0 AS total
    FROM item JOIN customer ON customer = id GROUP BY name ORDER BY total DESC
"""
for name, count, total in connection.execute(query):
    print(f"{name:5} {count} orders {total:8.2f}")

try:
    with connection:
        connection.execute("DELETE FROM item")
        connection.execute("INSERT INTO item VALUES (1, 'nothing', 0, 1)")
except sqlite3.IntegrityError as error:
    print("rolled back:", str(error).split(":")[0])
print("rows left:", connection.execute("SELECT count(*) FROM item").fetchone()[0])

connection.create_aggregate("longest", 1, Longest)
connection.create_function("reverse", 1, lambda text: text[::-1])
print(connection.execute("SELECT longest(what), reverse(max(what)) FROM item").fetchone())
connection.row_factory = sqlite3.Row
row = connection.execute("SELECT what, pieces FROM item WHERE what LIKE :pattern", {"pattern": "%司"}).fetchone()
print(dict(row))
recursive = "WITH RECURSIVE f(a, b) AS (VALUES (0, 1) UNION ALL SELECT b, a + b FROM f LIMIT 15) SELECT group_concat(a) FROM f"
print(connection.execute(recursive).fetchone()[0])
connection.close()

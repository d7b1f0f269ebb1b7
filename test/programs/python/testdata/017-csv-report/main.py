"""A sales report: CSV from standard input, totals by region, a CSV file written and read again."""
import csv
import sys
from collections import defaultdict

rows = list(csv.DictReader(sys.stdin))
totals = defaultdict(lambda: defaultdict(float))
for row in rows:
    totals[row["region"]][row["product"]] += int(row["units"]) * float(row["price"])

products = sorted({row["product"] for row in rows})
with open("report.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["region", *products, "sum"])
    for region in sorted(totals):
        values = [totals[region][product] for product in products]
        writer.writerow([region, *(f"{v:.2f}" for v in values), f"{sum(values):.2f}"])

with open("report.csv", newline="", encoding="utf-8") as file:
    for line in csv.reader(file):
        print(f"{line[0]:14}" + "".join(f"{cell:>22}" for cell in line[1:]))
with open("report.csv", "rb") as file:
    print(file.read())

import json
from dataclasses import asdict

from .models import Product


def save(path, products):
    with open(path, "w", encoding="utf-8") as file:
        json.dump([asdict(product) for product in products], file, ensure_ascii=False)


def load(path):
    with open(path, encoding="utf-8") as file:
        return [Product(**entry) for entry in json.load(file)]

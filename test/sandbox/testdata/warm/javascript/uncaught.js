function deep(n) {
  if (!n) throw new TypeError("deep");
  deep(n - 1);
}
deep(3);

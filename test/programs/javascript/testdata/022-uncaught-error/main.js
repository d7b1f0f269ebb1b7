// Ends with an error that nobody catches.
const stock = { äpfel: 3, birnen: 0 };

function take(name) {
  if (!stock[name]) throw new RangeError(`keine ${name} mehr 🍐`);
  stock[name]--;
  return stock[name];
}

for (const name of ['äpfel', 'äpfel', 'birnen', 'äpfel']) console.log(name, take(name));

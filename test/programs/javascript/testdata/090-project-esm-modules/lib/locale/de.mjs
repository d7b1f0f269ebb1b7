export const greet = (name) => `Grüß dich, ${name}!`;

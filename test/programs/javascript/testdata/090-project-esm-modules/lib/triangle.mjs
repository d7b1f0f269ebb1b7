export const triangle = (base, height) => (base * height) / 2;

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export function bars(items, width) {
  const most = Math.max(...items.map((i) => i.value));
  return items.map(({ name, value }) => {
    const eighths = Math.round((value / most) * width * 8);
    return `${name.padEnd(7)}│${'█'.repeat(eighths >> 3)}${EIGHTHS[eighths & 7]} ${value}`;
  }).join('\n');
}

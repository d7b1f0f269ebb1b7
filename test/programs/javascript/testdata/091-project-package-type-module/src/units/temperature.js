const SCALES = { C: (t) => t, F: (t) => ((t - 32) * 5) / 9, K: (t) => t - 273.15 };

export function celsius(text) {
  const [, value, scale] = /^(-?[\d.]+)\s*°?([CFK])$/.exec(text) ?? [];
  if (value === undefined) throw new SyntaxError(`not a temperature: ${text}`);
  return SCALES[scale](Number(value));
}

// Dates in UTC: calendars, differences, weeks, Easter, parsing and formatting.
const DAY = 86400000;
const utc = (text) => new Date(`${text}T00:00:00Z`);
const iso = (date) => date.toISOString().slice(0, 10);
const addDays = (date, n) => new Date(date.getTime() + n * DAY);

function addMonths(date, n) {
  const target = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + n, 1));
  const last = new Date(Date.UTC(target.getUTCFullYear(), target.getUTCMonth() + 1, 0)).getUTCDate();
  target.setUTCDate(Math.min(date.getUTCDate(), last));
  return target;
}

function isoWeek(date) {
  const thursday = addDays(date, 3 - ((date.getUTCDay() + 6) % 7));
  const year = thursday.getUTCFullYear();
  return `${year}-W${String(1 + Math.floor((thursday - Date.UTC(year, 0, 1)) / DAY / 7)).padStart(2, '0')}`;
}

function month(year, m) {
  const first = new Date(Date.UTC(year, m - 1, 1));
  const days = new Date(Date.UTC(year, m, 0)).getUTCDate();
  const cells = [...Array((first.getUTCDay() + 6) % 7).fill('  '), ...Array.from({ length: days }, (_, i) => String(i + 1).padStart(2))];
  const weeks = [];
  while (cells.length) weeks.push(cells.splice(0, 7).join(' '));
  return ['Mo Tu We Th Fr Sa Su', ...weeks].join('\n');
}

console.log(month(2024, 2));
for (const text of ['2020-12-31', '2021-01-03', '2024-12-30', '2024-02-29']) console.log(text, isoWeek(utc(text)));
console.log('a month after Jan 31:', iso(addMonths(utc('2024-01-31'), 1)), iso(addMonths(utc('2023-01-31'), 1)), iso(addMonths(utc('2024-03-31'), -13)));
console.log('days of 2024:', (utc('2025-01-01') - utc('2024-01-01')) / DAY, 'leap second ignored:', iso(addDays(utc('2016-12-31'), 1)));
console.log('offset here:', new Date(2024, 6, 1).getTimezoneOffset(), new Date(2024, 0, 1).toISOString());
console.log(new Date('2024-03-10T08:00:00+05:30').toISOString(), Date.parse('2024-03-10'), new Date(NaN).getTime(), isNaN(new Date('no date')));
const formatter = new Intl.DateTimeFormat('de-DE', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
console.log(formatter.format(utc('2024-10-03')));
const parts = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/New_York', dateStyle: 'short', timeStyle: 'medium' });
console.log(parts.format(new Date('2024-07-04T12:00:00Z')), '|', parts.format(new Date('2024-12-04T12:00:00Z')));
const fridays = Array.from({ length: 36 }, (_, i) => new Date(Date.UTC(2024, i, 13))).filter((d) => d.getUTCDay() === 5);
console.log('Fridays the 13th:', fridays.map(iso).join(' '));

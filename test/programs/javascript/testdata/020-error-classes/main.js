// Own errors, causes, finally, wrapped results, errors from promises.
class AppError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
  }
}
class NotFound extends AppError {}
class Invalid extends AppError {
  constructor(field, options) {
    super(`${field} is invalid`, options);
    this.field = field;
  }
}

const store = new Map([['1', '{"name":"Åsa","age":"41"}'], ['2', '{broken'], ['3', '{"name":"Bo","age":"old"}']]);

function load(id) {
  if (!store.has(id)) throw new NotFound(`no record ${id}`);
  try {
    const record = JSON.parse(store.get(id));
    if (Number.isNaN(Number(record.age))) throw new RangeError('age is not a number');
    return record;
  } catch (error) {
    throw new Invalid(`record ${id}`, { cause: error });
  }
}

for (const id of ['1', '2', '3', '4']) {
  try {
    console.log(id, load(id).name);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    console.log(id, `${error}`, error.cause ? `← ${error.cause.name}` : '', error instanceof Invalid ? error.field : '');
  } finally {
    console.log('  closed', id);
  }
}

const order = (() => {
  try {
    return 'from try';
  } finally {
    console.log('finally comes first');
  }
})();
console.log(order);
const attempt = (action) => {
  try {
    return { ok: true, value: action() };
  } catch ({ name, message }) {
    return { ok: false, name };
  }
};
console.log([() => null.x, () => nothing, () => (1).toFixed(101), () => decodeURIComponent('%'), () => new Array(-1), () => 42].map(attempt));
Promise.reject(new NotFound('later'))
  .catch((error) => error.message + ' caught')
  .then(console.log);
process.on('unhandledRejection', (reason) => console.log('unhandled:', reason.message));
Promise.reject(new AppError('forgotten'));
console.log(new AggregateError([new Error('a'), new Error('b')], 'many').errors.length);

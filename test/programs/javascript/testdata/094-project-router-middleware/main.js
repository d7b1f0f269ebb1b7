// A web framework without the web: router, middleware, error handlers, on made-up requests.
const { App } = require('./app/app');
const { json, logger, limit } = require('./app/middleware');
const books = require('./routes/books');

const app = new App();
const lines = [];
app.use(logger(lines)).use(json()).use('/books', limit(6));
app.get('/', () => ({ text: 'welcome 🦀' }));
app.mount('/books', books());
app.get('/boom', () => {
  throw new Error('kaputt');
});
app.onError((error, request) => ({ status: error.status ?? 500, text: `${request.method} ${request.path}: ${error.message}` }));

(async () => {
  for (const [method, url, body] of [
    ['GET', '/'], ['GET', '/books'], ['POST', '/books', '{"title":"红楼梦","year":1791}'], ['GET', '/books/3'], ['GET', '/books/99'],
    ['POST', '/books', '{broken'], ['GET', '/books?sort=year&q=o'], ['DELETE', '/books/1'], ['GET', '/nothing'], ['GET', '/boom'], ['GET', '/se%20arch'],
  ]) {
    const { status, text } = await app.handle({ method, url, body });
    console.log(status, method, url, '→', text);
  }
  console.log(lines.join('\n'));
})();

const { HttpError } = require('../app/errors');

module.exports = () => {
  const books = new Map([[1, { title: 'Momo', year: 1973 }], [2, { title: 'Höhlengleichnis', year: -380 }]]);
  const find = ({ params }) => {
    const id = Number(params.id);
    if (!books.has(id)) throw new HttpError(404, `no book ${params.id}`);
    return id;
  };
  return [
    ['GET', '', ({ query: { sort = 'title', q = '' } }) => ({ json: [...books.values()].filter((b) => b.title.includes(q)).sort((a, b) => (a[sort] < b[sort] ? -1 : 1)).map((b) => b.title) })],
    ['POST', '', ({ body }) => {
      const id = books.size + 1;
      books.set(id, body);
      return { status: 201, json: { id } };
    }],
    ['GET', '/:id', (request) => ({ json: books.get(find(request)) })],
    ['DELETE', '/:id', (request) => (books.delete(find(request)), { status: 204, text: '' })],
  ];
};

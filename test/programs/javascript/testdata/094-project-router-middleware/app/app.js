const { HttpError } = require('./errors');

class App {
  #middleware = [];
  #routes = [];
  #onError = (error) => ({ status: 500, text: error.message });

  use(prefix, action) {
    if (typeof prefix === 'function') [prefix, action] = ['/', prefix];
    this.#middleware.push({ prefix, action });
    return this;
  }
  route(method, path, action) {
    const pattern = new RegExp(`^${path.replace(/\/$/, '').replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`);
    this.#routes.push({ method, pattern, action });
    return this;
  }
  get(path, action) { return this.route('GET', path, action); }
  post(path, action) { return this.route('POST', path, action); }
  delete(path, action) { return this.route('DELETE', path, action); }
  mount(prefix, router) {
    for (const [method, path, action] of router) this.route(method, prefix + path, action);
    return this;
  }
  onError(action) { this.#onError = action; }

  async handle({ method, url, body }) {
    const parsed = new URL(url, 'http://localhost');
    const request = { method, path: decodeURIComponent(parsed.pathname), query: Object.fromEntries(parsed.searchParams), body };
    const chain = this.#middleware.filter(({ prefix }) => request.path.startsWith(prefix)).map(({ action }) => action);
    const dispatch = async (i) => (i < chain.length ? chain[i](request, () => dispatch(i + 1)) : this.#respond(request));
    try {
      return { status: 200, ...(await dispatch(0)) };
    } catch (error) {
      return this.#onError(error, request);
    }
  }
  async #respond(request) {
    const matching = this.#routes.filter(({ pattern }) => pattern.test(request.path));
    if (!matching.length) throw new HttpError(404, 'no such page');
    const route = matching.find(({ method }) => method === request.method);
    if (!route) throw new HttpError(405, 'method not allowed');
    request.params = { ...route.pattern.exec(request.path).groups };
    return route.action(request);
  }
}

module.exports = { App };

const { HttpError } = require('./errors');

exports.logger = (lines) => async (request, next) => {
  const response = await next().catch((error) => {
    lines.push(`log: ${request.path} failed`);
    throw error;
  });
  lines.push(`log: ${request.path} ${response.status ?? 200}`);
  return response;
};

exports.json = () => async (request, next) => {
  if (request.body) {
    try {
      request.body = JSON.parse(request.body);
    } catch {
      throw new HttpError(400, 'body is not JSON');
    }
  }
  const response = await next();
  return 'json' in response ? { ...response, text: JSON.stringify(response.json) } : response;
};

exports.limit = (most) => {
  let count = 0;
  return (request, next) => {
    if (++count > most) throw new HttpError(429, `more than ${most} requests`);
    return next();
  };
};

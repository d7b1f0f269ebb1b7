exports.check = function check(body, outer = new Map([['print', null]])) {
  const scope = new Map(outer);
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (['name', 'call', 'set'].includes(node.type) && !scope.has(node.name)) throw new SyntaxError(`${node.name} is not defined in line ${node.line}`);
    if (node.type === 'call') {
      const arity = scope.get(node.name);
      if (typeof arity === 'number' && arity !== node.values.length) throw new SyntaxError(`${node.name} takes ${arity}, not ${node.values.length}, in line ${node.line}`);
    }
    if (node.type === 'fun') {
      scope.set(node.name, node.parameters.length);
      check(node.body, new Map([...scope, ...node.parameters.map((p) => [p, null])]));
      return;
    }
    Object.values(node).forEach((child) => (Array.isArray(child) ? child.forEach(visit) : visit(child)));
    if (node.type === 'let') scope.set(node.name, null);
  };
  body.forEach(visit);
};

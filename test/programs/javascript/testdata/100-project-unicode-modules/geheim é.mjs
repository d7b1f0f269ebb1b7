export default { ключ: '🔑', 'clé': 1 };

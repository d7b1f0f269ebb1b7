// A container that wires services by name, with scopes, factories, cycles found, async setup.
const { Container } = require('./container');
const { Clock, FixedClock } = require('./services/clock');
const { Mailer } = require('./services/mailer');
const { Users } = require('./services/users');
const { Signup } = require('./services/signup');

(async () => {
  const container = new Container()
    .register('clock', FixedClock, { single: true })
    .register('mailer', Mailer, { single: true })
    .register('users', Users, { single: true })
    .register('signup', Signup)
    .value('settings', { sender: 'büro@example.org', started: '2024-02-29T23:59:59Z' });

  const signup = container.get('signup');
  for (const [name, mail] of [['Ada', 'ada@example.org'], ['Łukasz', 'l@example.pl'], ['Ada', 'other@example.org'], ['Bob', 'no mail']]) {
    console.log(await signup.run(name, mail));
  }
  console.log(container.get('mailer').sent);
  console.log('single:', container.get('clock') === container.get('clock'), 'fresh:', container.get('signup') !== signup);
  console.log('is a clock:', container.get('clock') instanceof Clock);

  class A { static needs = ['b']; }
  class B { static needs = ['a']; }
  container.register('a', A).register('b', B);
  for (const name of ['a', 'missing']) {
    try {
      container.get(name);
    } catch (error) {
      console.log(error.message);
    }
  }
})();

exports.Signup = class Signup {
  static needs = ['users', 'mailer'];
  constructor(services) { Object.assign(this, services); }
  async run(name, mail) {
    try {
      if (!/^\S+@\S+$/.test(mail)) throw new TypeError(`not an address: ${mail}`);
      const user = await this.users.add({ name, mail });
      await this.mailer.send(mail, `welcome, ${name}!`);
      return `${user.id} ${user.name}`;
    } catch (error) {
      return `refused: ${error.message}`;
    }
  }
};

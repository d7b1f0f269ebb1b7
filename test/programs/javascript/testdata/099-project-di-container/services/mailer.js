exports.Mailer = class Mailer {
  static needs = ['settings', 'clock'];
  sent = [];
  constructor({ settings, clock }) { Object.assign(this, { sender: settings.sender, clock }); }
  async send(to, text) {
    await null;
    this.sent.push(`${this.clock.now().toISOString()} ${this.sender} → ${to}: ${text}`);
  }
};

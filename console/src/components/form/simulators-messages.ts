/** Texts about what a demo left. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    title: '{channels} channels and {models} models of the demo are still there',
    text:
      'You have a channel of your own, so the simulators stay off from the next start: the ' +
      'gateway then retires these by itself. “Enter the demo” disappears with them: from then ' +
      'on, sign in with the password. By default, operators then also need a second factor.',
    act: 'Remove the demo’s models',
    ask: 'Remove the demo’s channels and models?',
    askText: 'Calls to these models are refused from now on: {names}.',
    askMore:
      'Records and balances stay. A gateway without channels of its own starts its next demo ' +
      'with them again.',
  },
  {
    title: '演示的 {channels} 个渠道和 {models} 个模型仍然存在',
    text:
      '您已有自己的渠道，因此下次启动时不再运行模拟服务，网关会自动下线它们。' +
      '届时“进入演示”也将消失：请使用密码登录，运营人员默认还需要两步验证。',
    act: '移除演示模型',
    ask: '移除演示的渠道和模型？',
    askText: '此后对这些模型的调用会被拒绝：{names}。',
    askMore: '记录和余额保留。没有自己渠道的网关在下次演示时会重新启用它们。',
  },
)

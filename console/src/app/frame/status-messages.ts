/** Texts of the status bar. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    offline: 'The gateway does not answer. The console tries again every three seconds.',
    retry: 'Try now',
    outdated: 'A new version of the console is available.',
    reload: 'Reload',
    acting:
      'You are acting as an operator in the account {account}. Calls are paid from its balance.',
    leaveAccount: 'Leave',
    demo: 'Demo: the vendors are simulated and the money is play money.',
  },
  {
    offline: '网关没有响应，每三秒重试一次。',
    retry: '立即重试',
    outdated: '控制台有新版本。',
    reload: '重新加载',
    acting: '您正以运营人员身份操作账户 {account}，调用费用从其余额中扣除。',
    leaveAccount: '离开',
    demo: '演示模式：上游为模拟服务，余额为虚拟资金。',
  },
)

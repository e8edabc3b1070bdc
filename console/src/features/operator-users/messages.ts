/** Texts of the people who may sign in. */
import { defineMessages } from '../../lib/i18n.tsx'
import { words } from '../../lib/words/shared-words.ts'

export const messages = defineMessages(
  {
    ...words.en,
    title: 'Users',
    description: 'Everyone who can sign in to this console.',
    search: 'Name, address or id',
    name: 'Name',
    operator: 'Operator',
    customer: 'Customer',
    factor: 'Second factor',
    on: 'On',
    off: 'Off',
    lock: 'Lock out',
    unlock: 'Unlock',
    lockText: 'Every session and access token ends now, and sign-in is refused.',
    unlockText: 'Sign-in works again.',
    reset: 'Reset link',
    resetText:
      'A link for setting a new password, valid for half an hour. The old password works ' +
      'until then.',
    invite: 'Invite an operator',
    inviteText: 'Creates a link for three days. It is mailed as well, if the gateway sends mail.',
    link: 'Link',
    linkText: 'It is shown only once and works once.',
    emptyTitle: 'No users yet',
  },
  {
    ...words.zh,
    title: '用户',
    description: '可以登录此控制台的所有人。',
    search: '姓名、邮箱或 ID',
    name: '姓名',
    operator: '运营',
    customer: '客户',
    factor: '两步验证',
    on: '已开启',
    off: '未开启',
    lock: '锁定',
    unlock: '解除锁定',
    lockText: '所有会话立即结束，访问令牌立即失效，并拒绝登录。',
    unlockText: '可以再次登录。',
    reset: '重置链接',
    resetText: '用于设置新密码的链接，半小时内有效，在此之前旧密码仍可使用。',
    invite: '邀请运营人员',
    inviteText: '生成三天内有效的链接；如果网关能够发送邮件，也会通过邮件发送。',
    link: '链接',
    linkText: '仅显示这一次，且只能使用一次。',
    emptyTitle: '还没有用户',
  },
)

/** Texts of the audit log. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    title: 'Audit log',
    description: 'Who did what, and what came of it. Nothing here can be changed or removed.',
    at: 'At',
    who: 'Who',
    action: 'What',
    target: 'To what',
    ip: 'From',
    account: 'Account',
    actor: 'E-mail or user id',
    details: 'Details',
    outcome: 'Outcome',
    emptyTitle: 'Nothing was done yet',
    emptyText: 'Sign-ins, changes of money, prices, channels and roles appear here.',
    nobody: 'nobody signed in',
  },
  {
    title: '审计日志',
    description: '谁做了什么以及结果如何。记录不可更改或删除。',
    at: '时间',
    who: '操作人',
    action: '操作',
    target: '对象',
    ip: '来源',
    account: '账户',
    actor: '邮箱或用户 ID',
    details: '详情',
    outcome: '结果',
    emptyTitle: '尚无操作',
    emptyText: '登录以及资金、价格、渠道和角色的变更会显示在这里。',
    nobody: '未登录',
  },
)

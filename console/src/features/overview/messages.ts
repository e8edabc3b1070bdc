/** Texts of the customer's overview. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    title: 'Overview',
    description: 'What {account} has, what is frozen, what was spent.',
    available: 'Available',
    held: 'Frozen',
    debt: 'Owed',
    heldNote: 'For calls and tasks under way',
    debtNote: 'Calls are refused until it is paid',
  },
  {
    title: '概览',
    description: '{account} 的余额、冻结金额与支出。',
    available: '可用余额',
    held: '冻结金额',
    debt: '欠款',
    heldNote: '用于进行中的调用与任务',
    debtNote: '结清之前调用会被拒绝',
  },
)

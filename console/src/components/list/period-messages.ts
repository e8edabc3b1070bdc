/** Texts of the choice of a period. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    period: 'Period',
    today: 'Today',
    yesterday: 'Yesterday',
    week: 'Last 7 days',
    days: 'Last 30 days',
    month: 'This month',
    lastMonth: 'Last month',
    anyTime: 'Any time',
    custom: 'Custom',
    from: 'From',
    to: 'To',
    since: 'Since {time}',
    until: 'Until {time}',
  },
  {
    period: '时段',
    today: '今天',
    yesterday: '昨天',
    week: '最近 7 天',
    days: '最近 30 天',
    month: '本月',
    lastMonth: '上月',
    anyTime: '不限时间',
    custom: '自定义',
    from: '从',
    to: '到',
    since: '{time} 起',
    until: '截至 {time}',
  },
)

/** Texts of search. */
import { defineMessages } from '../../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    query: 'Query',
    count: 'Results',
    published: 'Published',
    anyTime: 'at any time',
    OneDay: 'in the last day',
    OneWeek: 'in the last week',
    OneMonth: 'in the last month',
    OneYear: 'in the last year',
    sites: 'Only these sites',
    sitesHint: 'Host names, separated by |',
    summary: 'Longer summaries',
    found: '{count} results',
    none: 'No results. Try other words.',
    answer: 'Full response',
    opensInNewTab: 'opens in a new tab',
  },
  {
    query: '搜索内容',
    count: '结果数',
    published: '发布时间',
    anyTime: '不限',
    OneDay: '一天内',
    OneWeek: '一周内',
    OneMonth: '一个月内',
    OneYear: '一年内',
    sites: '仅限这些站点',
    sitesHint: '主机名，以 | 分隔',
    summary: '更长的摘要',
    found: '{count} 条结果',
    none: '没有找到结果，请换个说法。',
    answer: '完整响应',
    opensInNewTab: '在新标签页中打开',
  },
)

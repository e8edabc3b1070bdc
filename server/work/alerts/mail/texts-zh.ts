/** Mail in Chinese. */
import { isRefusal, type MailTexts, type Words } from './mail-texts.ts'

const PERIODS: Readonly<Record<string, string>> = {
  day: '每日',
  week: '每周',
  month: '每月',
  total: '总',
}

const UNITS: Readonly<Record<string, string>> = {
  call: '次调用',
  input_token: '个输入 token',
  output_token: '个输出 token',
}

const ROLES: Readonly<Record<string, string>> = {
  owner: '所有者',
  billing: '财务',
  developer: '开发者',
  viewer: '查看者',
}
const SCOPES: Readonly<Record<string, string>> = { key: '密钥', member: '成员', tag: '标签' }

function thresholdOf(of: Words['of']): string {
  if (isRefusal(of)) return '预算拒绝了一次调用'
  const threshold = of('threshold')
  return threshold === '100' ? '预算已用完' : `预算已用 ${threshold}%`
}

/** The calls that a budget counts. */
function budgeted(of: Words['of']): string {
  const name = of('subject_name') || of('subject')
  switch (of('scope')) {
    case 'account':
      return '整个账户'
    case 'end_user':
      return of('end_user') ? `终端用户 ${of('end_user')}` : '没有单独预算的终端用户'
    default:
      return `${SCOPES[of('scope')] ?? of('scope')} ${name}`
  }
}

export const ZH: MailTexts = {
  kinds: {
    budget_threshold: ({ account, of }) => ({
      subject: `${thresholdOf(of)}：${account}`,
      lines: [
        `账户 ${account} 的${PERIODS[of('period')] ?? ''}预算（${budgeted(of)}）`,
        `已用 ${of('spent')}，共 ${of('amount')} ${UNITS[of('unit')] ?? of('currency')}。`,
        ...(isRefusal(of) ? ['一次调用超出剩余额度，已被拒绝（402）。'] : []),
        ...(of('resets_at') ? [`下一周期开始于 ${of('resets_at')}。`] : []),
        `预算 ID：${of('budget_id')}`,
      ],
    }),
    balance_low: ({ account, of }) => ({
      subject: `余额不足提醒：${account}`,
      lines: [
        `账户 ${account} 的余额已低于 ${of('low_balance_at')} ${of('currency')}。`,
        `可用：${of('available')} ${of('currency')}，冻结：${of('held')}。`,
        '请及时充值，以免调用被拒绝。',
      ],
    }),
    balance_empty: ({ account, of }) => ({
      subject: `余额已无法支付调用：${account}`,
      lines: [
        `账户 ${account} 的一次调用被拒绝（402）。`,
        `需要 ${of('required')} ${of('currency')}；可用：${of('available')}，欠款：${of('debt')}。`,
        '充值之前，调用将继续被拒绝。',
      ],
    }),
    key_expiring: ({ account, of }) => ({
      subject: `API 密钥将于 ${of('expires_at')} 过期：${account}`,
      lines: [
        `账户 ${account} 的 API 密钥 ${of('key_name')}（${of('key')}）`,
        `将于 ${of('expires_at')} 过期，之后使用它的调用会被拒绝。`,
        '请提前创建或轮换密钥。',
      ],
    }),
    invitation: ({ account, of }) => ({
      subject: account ? `邀请您加入 ${account}` : '邀请您管理网关',
      lines: [
        account
          ? `您被邀请加入账户 ${account}，角色：${ROLES[of('role')] ?? of('role')}。`
          : '您被邀请成为网关的运营人员。',
        `链接仅可使用一次，有效期至 ${of('expires_at')}：`,
        '',
        of('link'),
        '',
        '如果这不是您期待的邮件，请忽略。',
      ],
    }),
    sign_up: ({ of }) => ({
      subject: '请确认您的邮箱',
      lines: [
        '有人想用此邮箱注册。如果是您本人，请由此继续：',
        '',
        of('link'),
        '',
        `链接仅可使用一次，有效期至 ${of('expires_at')}。`,
        '如果不是您本人，请忽略：没有此链接就不会发生任何事。',
      ],
    }),
    books_unbalanced: ({ of }) => ({
      subject: '账目不平',
      lines: [`审计发现差异：${of('failed')}。`, '请运行 `tributary audit` 并查阅运维指南。'],
    }),
  },
  test: {
    subject: 'Tributary 邮件测试',
    lines: ['如果您看到这封邮件，说明 SMTP_URL 和 MAIL_FROM 配置有效。'],
  },
  more: '详情请见控制台：',
}

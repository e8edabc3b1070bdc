/** Texts of sending the dropped webhooks of a time again. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    title: 'Send dropped webhooks again',
    text:
      'Sends again each dropped delivery that was created in this period and has not been sent ' +
      'again yet: the same body, a new signature, four attempts. At most 500 at a time.',
    from: 'From',
    to: 'To (at most 24 hours later)',
    host: 'Receiver’s host (optional)',
    act: 'Send again',
    done: '{count} are being sent again, {remaining} remain',
  },
  {
    title: '重新发送已放弃的 Webhook',
    text:
      '重新发送在此时间段内创建、已放弃且尚未重新发送的投递：内容相同，签名更新，再尝试四次。' +
      '每次最多 500 个。',
    from: '开始时间',
    to: '结束时间（最多相隔 24 小时）',
    host: '接收方主机（可选）',
    act: '重新发送',
    done: '正在重新发送 {count} 个，剩余 {remaining} 个',
  },
)

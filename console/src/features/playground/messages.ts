/** Texts of the playground's page. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    title: 'Playground',
    description:
      'Real calls, paid from this account’s balance, with a console key that expires after ' +
      'an hour.',
    kinds: 'Choose a type',
    kind_chat: 'Chat',
    kind_compare: 'Compare',
    kind_speech: 'Speech',
    kind_search: 'Search',
    kind_image: 'Image',
    kind_video: 'Video',
    kind_minutes: 'Minutes',
    kind_interpretation: 'Interpretation',
    kind_transcription: 'Transcription',
    kind_embedding: 'Embedding',
    model: 'Model',
    prices: 'Prices',
    noModelTitle: 'No model of this type yet',
    noModelText: 'Once an operator adds one, it can be tried here.',
    toOperatorModels: 'Add a model',
    toModels: 'See all models',
  },
  {
    title: '体验中心',
    description: '真实调用，从此账户余额扣费，使用控制台自己的密钥（一小时后失效）。',
    kinds: '选择类型',
    kind_chat: '对话',
    kind_compare: '对比',
    kind_speech: '语音合成',
    kind_search: '搜索',
    kind_image: '图片',
    kind_video: '视频',
    kind_minutes: '纪要',
    kind_interpretation: '同声传译',
    kind_transcription: '语音识别',
    kind_embedding: '向量',
    model: '模型',
    prices: '价格',
    noModelTitle: '还没有此类模型',
    noModelText: '运营人员添加后，即可在此体验。',
    toOperatorModels: '添加模型',
    toModels: '查看全部模型',
  },
)

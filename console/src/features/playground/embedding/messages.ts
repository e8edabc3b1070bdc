/** Texts of embeddings. */
import { defineMessages } from '../../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    input: 'Text',
    inputHint: 'Each line becomes its own vector.',
    dimensions: 'Dimensions',
    byDefault: 'model default',
    vectors: '{count} vectors of {length} numbers, {tokens} tokens',
    similarity: 'Similarity of the lines',
    line: 'Line',
  },
  {
    input: '文本',
    inputHint: '每行生成一个向量。',
    dimensions: '维度',
    byDefault: '模型默认',
    vectors: '{count} 个向量，每个 {length} 维，共 {tokens} token',
    similarity: '各行的相似度',
    line: '行',
  },
)

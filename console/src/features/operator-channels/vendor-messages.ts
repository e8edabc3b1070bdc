/** Texts of adding a channel from the list of vendors. */
import { defineMessages } from '../../lib/i18n.tsx'

export const messages = defineMessages(
  {
    choose: 'Which vendor do you have an account with?',
    search: 'Search vendors',
    added: 'added',
    endsDemo: 'The first channel ends the demo',
    endsDemoText:
      'The demo account and its play money stay, but “Enter the demo” disappears: sign in with ' +
      'the e-mail and password that were printed at the start (also in data/demo.json).',
    none: 'No vendor matches.',
    other: 'Another vendor (OpenAI-compatible), or a server of your own',
    otherText: 'Not in the list below: any address that speaks a supported protocol.',
    back: 'All vendors',
    keyPage: 'Create a key at {host}',
    keyOf: 'API key for {channels}',
    fromVariable: 'Empty: the environment variable {variable} of this gateway is used.',
    keyEmpty: 'Leave empty if you do not use it.',
    severalChannels: 'Adds the channels {channels}.',
    badJson: 'not valid JSON',
    nothing: 'Enter a key, or set its environment variable.',
    act: 'Add {name}',
    done: '{name} is added',
    doneText: 'No model uses it yet. Test the key, then choose the models that you want to sell.',
    seeChannel: 'Test {id}',
    addModels: 'Choose models',
  },
  {
    choose: '您在哪家供应商有账户？',
    search: '搜索供应商',
    added: '已添加',
    endsDemo: '添加第一个渠道后，演示即结束',
    endsDemoText:
      '演示账户及其虚拟余额会保留，但“进入演示”按钮将消失：请使用启动时打印的邮箱与密码登录' +
      '（data/demo.json 中也有）。',
    none: '没有匹配的供应商。',
    other: '其他供应商（OpenAI 兼容）或自建服务',
    otherText: '不在下方列表中：任何使用所支持协议的地址。',
    back: '所有供应商',
    keyPage: '在 {host} 创建密钥',
    keyOf: '{channels} 的 API 密钥',
    fromVariable: '留空：使用本网关的环境变量 {variable}。',
    keyEmpty: '不使用时留空。',
    severalChannels: '将添加渠道 {channels}。',
    badJson: '不是有效的 JSON',
    nothing: '请输入密钥，或设置其环境变量。',
    act: '添加 {name}',
    done: '已添加 {name}',
    doneText: '还没有模型使用它。先测试密钥，再选择要销售的模型。',
    seeChannel: '测试 {id}',
    addModels: '选择模型',
  },
)

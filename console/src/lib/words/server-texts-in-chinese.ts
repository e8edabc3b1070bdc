/**
 * The gateway's own texts in Chinese: refusals, reasons and warnings, which it writes in English.
 * A text that is not here stays as it is.
 */
const TEXTS: Readonly<Record<string, string>> = {
  'access tokens cannot do this: sign in to the console': '访问令牌不能执行此操作，请登录控制台',
  'add an authenticator app or a passkey first': '请先添加验证器应用或通行密钥',
  'you would have no way to sign in: add a passkey first': '这样您将无法登录：请先添加通行密钥',
  'you would have no way to sign in: add another passkey first':
    '这样您将无法登录：请先添加另一个通行密钥',
  'an operator set this budget: only operators can change it':
    '此预算由运营人员设定，仅运营人员可以修改',
  'the spend limit of this API key is reached': '此 API 密钥的消费上限已用完',
  'an account needs an owner: name another first': '账户必须有所有者，请先指定另一位',
  'an audit is running': '审计正在进行',
  'this has changed since it was opened: open it again': '打开之后内容已更改：请重新打开',
  'start adding a passkey first': '请先开始添加通行密钥',
  conflict: '冲突',
  connected: '已连接',
  'confirm your identity: this action needs a recent sign-in': '请确认身份：此操作需要近期登录',
  'contains credentials': '不能包含用户名或密码',
  'has characters that are not allowed in a URL': '含有网址中不允许的字符',
  'insufficient balance -- please top up or upgrade the service plan': '余额不足，请充值',
  'internal error': '内部错误',
  invalid: '无效',
  'invalid or missing API key': 'API 密钥缺失或无效',
  'invalid request': '请求无效',
  'is easy to guess: choose another': '太容易猜到，请换一个',
  'is needed': '必填',
  'is not a URL': '不是网址',
  'is not an address': '不是地址',
  'is not an http or https URL': '不是 http 或 https 网址',
  'must be a currency of ISO 4217 in three capital letters, such as CNY or USD':
    '必须是 ISO 4217 货币代码（三个大写字母），例如 CNY 或 USD',
  'must be the six digits that the app shows': '必须是应用显示的六位数字',
  'is not the current code: type the one shown now, and check the clock of the device':
    '不是当前的验证码：请输入应用现在显示的验证码，并校准该设备的时钟',
  'is wrong: type the code that the app shows now for this QR code':
    '不正确：请输入应用为此二维码现在显示的验证码',
  'no authenticator app is waiting for its first code: another window may have confirmed it':
    '没有等待首个验证码的验证器应用：可能已在另一个窗口中确认',
  'another browser has started adding an app since then: start again, and scan the new QR code':
    '另一个浏览器已开始添加应用：请重新开始并扫描新的二维码',
  'is your current password': '是当前密码',
  'its prices are examples: set your own': '价格仅为示例，请设置自己的价格',
  'leads to a metadata service': '指向云主机的元数据服务',
  'model field is required': '缺少 model 字段',
  'must be an address or a network, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32':
    '必须是地址或网段，例如 203.0.113.7、10.0.0.0/8 或 2001:db8::/32',
  'must be a decimal': '必须是小数',
  'must be a decimal, for example 12.5': '必须是小数，例如 12.5',
  'must be after from': '必须晚于开始时间',
  'must be after the start': '必须晚于开始时间',
  'must be an e-mail address such as kim@example.com': '必须是邮箱地址，例如 kim@example.com',
  'needs an entry, or a "default"': '需要至少一个模型，或“其他所有模型”的规则',
  'must be in the future': '必须是将来的时间',
  'must be more than zero': '必须大于零',
  'must not be empty': '不能为空',
  'names a host that is not public': '主机不在公网上',
  'names no host': '缺少主机名',
  'no price: calls are refused': '没有价格：调用会被拒绝',
  'no route leads to a usable channel': '没有通往可用渠道的路由',
  'no route: calls are refused': '没有路由：调用会被拒绝',
  'no such plan, or it has begun': '没有此计划价格，或已生效',
  'not a cursor of this list': '不是此列表的游标',
  'not found': '未找到',
  'only an adjustment can be negative': '只有调整才能为负数',
  'operators are managed on the command line: tributary user':
    '运营人员在命令行中管理：tributary user',
  'opening balance': '初始余额',
  'operators only': '仅限运营人员',
  'owners of the account only': '仅限账户所有者',
  'passkeys need a PUBLIC_URL with a host name, not an IP address':
    '使用通行密钥时，PUBLIC_URL 必须是主机名，而不是 IP 地址',
  'paused by an operator': '已被运营人员暂停',
  'rate limit exceeded': '超出速率限制',
  'request body is too large': '请求体过大',
  required: '必填',
  retired: '已停用',
  'set up an authenticator app or a passkey in your profile first':
    '请先在个人设置中添加验证器应用或通行密钥',
  'sign in first: the session is missing or has expired': '请先登录：会话不存在或已过期',
  'sign in with the password that the gateway printed at its start':
    '请使用网关启动时显示的密码登录',
  'some routes lead to channels that cannot be used': '部分路由通往不可用的渠道',
  'the body is not JSON': '请求体不是 JSON',
  'the demo’s user has a second factor: sign in with the password':
    '演示用户已启用双重验证：请用密码登录',
  'the demo’s user is disabled': '演示用户已停用',
  'the gateway could not sign it': '网关无法为其签名',
  'the gateway ended before the outcome was known': '网关在得知结果之前已停止',
  'the host does not resolve': '无法解析主机名',
  'no answer in time': '未能及时响应',
  'the answer broke off': '响应中断',
  'the connection was refused': '连接被拒绝',
  'the connection was reset': '连接被重置',
  'the connection timed out': '连接超时',
  'the host cannot be reached': '无法到达主机',
  'the gateway cannot be reached': '无法连接网关，可能正在重启。',
  'the response was cancelled': '响应已取消',
  'the task was cancelled': '任务已取消',
  'the channel is retired': '该渠道已下线',
  'the host has no address': '主机没有地址',
  'the host was not resolved in time': '主机名解析超时',
  'the request did not arrive in time': '请求未能及时到达',
  'the service is temporarily unavailable, please try again': '服务暂时不可用，请重试',
  'the vendor answered a redirect': '供应商返回了重定向',
  'this account has already redeemed this code': '此账户已兑换过此兑换码',
  'this code has already been used': '此兑换码已被使用',
  'this code has expired': '此兑换码已过期',
  'this code is no longer valid': '此兑换码已失效',
  'this gateway is not in demo mode': '此网关未处于演示模式',
  'this key is not permitted to do that': '此密钥无权执行该操作',
  'this link is no longer valid: it works once, for a limited time':
    '此链接已失效：它只能使用一次，且有时限',
  'this passkey is registered already': '此通行密钥已注册',
  'this protocol has no list of models': '此协议没有模型列表',
  'this passkey was not accepted: try again': '通行密钥未被接受，请重试',
  'this took too long: sign in again': '操作超时，请重新登录',
  'too many event streams are open': '打开的事件流过多',
  'unknown code: check each character': '兑换码不存在：请逐字检查',
  'unknown field': '未知字段',
  'upstream provider error': '上游供应商出错',
  'wrong e-mail address or password': '邮箱或密码不正确',
  'wrong or used code': '验证码不正确或已被使用',
  'you have no passkey': '您没有通行密钥',
  'signing up is off: ask for an invitation': '注册未开放，请联系他人邀请您',
  'this gateway sends no mail': '此网关不发送邮件',
  'must be true: the terms have to be accepted': '必须接受条款',
  'you already have an account: sign in': '您已有登录账号，请登录',
  'too many invitations by mail: try again later': '邮件邀请过多：请稍后再试',
  'too many mails: open the last one, or try again later': '邮件过多：请查看最近一封，或稍后再试',
  'it does not answer': '没有响应',
  'must begin with https:// (http:// only on loopback, with ALLOW_PRIVATE_TARGETS=1)':
    '必须以 https:// 开头（http:// 仅限本机，且需 ALLOW_PRIVATE_TARGETS=1）',
  'no token issuer is set: list one under token_issuers in a catalog file':
    '尚无令牌签发方：请在目录文件的 token_issuers 中列出',
  'must include openid': '必须包含 openid',
  'zero changes nothing': '零不会改变任何内容',
}

const NOUNS: Readonly<Record<string, string>> = {
  'access token': '访问令牌',
  account: '账户',
  asset: '素材',
  budget: '预算',
  channel: '渠道',
  code: '兑换码',
  column: '列',
  delivery: '投递记录',
  file: '文件',
  image: '图片',
  invitation: '邀请',
  key: '密钥',
  member: '成员',
  model: '模型',
  'own price list': '专属价目表',
  passkey: '通行密钥',
  'price list': '价目表',
  request: '请求',
  session: '会话',
  subject: '主体',
  task: '任务',
  token: '令牌',
  user: '用户',
  vendor: '供应商',
}

type Pattern = readonly [RegExp, (...parts: string[]) => string]

const PATTERNS: readonly Pattern[] = [
  [
    /^a proxy answered instead of the gateway, with status (\d+)$/,
    (status) => `应答来自代理，而不是网关，状态码为 ${status}`,
  ],
  [
    /^the gateway has not answered for (\d+) seconds$/,
    (seconds) => `网关已有 ${seconds} 秒没有应答`,
  ],
  [/^no such ([a-z ]+)$/, (noun) => `没有此${NOUNS[noun] ?? noun}`],
  [
    /^must have (at least|at most|exactly) (\d+) characters?$/,
    (side, n) => `${SIDES[side]} ${n} 个字符`,
  ],
  [
    /^must be 1 to (\d+) letters, digits.*$/,
    (n) => `必须是 1 到 ${n} 个字母、数字或 . _ - 等符号，不含空格`,
  ],
  [/^must have (at least|at most|exactly) (\d+) items?$/, (side, n) => `${SIDES[side]} ${n} 项`],
  [/^must be (at least|at most) (\S+)$/, (side, n) => `${SIDES[side]} ${n}`],
  [
    /^more than (\d+) calls to read: choose a shorter period$/,
    (n) => `需要读取的调用超过 ${n} 次：请选择更短的时段`,
  ],
  [/^must be more than (\S+)$/, (n) => `必须大于 ${n}`],
  [/^must be less than (\S+)$/, (n) => `必须小于 ${n}`],
  [/^must be one of (.+)$/, (values) => `必须是以下之一：${values.replaceAll(', ', '、')}`],
  [
    /^must be a decimal such as (\S+), below (\d+)$/,
    (one, limit) => `必须是小于 ${limit} 的小数，例如 ${one}`,
  ],
  [/^must be a decimal (?:such as|string, for example) (.+)$/, (one) => `必须是小数，例如 ${one}`],
  [
    /^must be a decimal of at most (\d+) digits before and after the point, for example (.+)$/,
    (count, one) => `必须是小数，小数点前后各不超过 ${count} 位，例如 ${one}`,
  ],
  [
    /^is missing: write "per": (\d+) if the amount buys \S+ of (\w+), as most vendors say it.*$/,
    (per, unit) =>
      `缺少 per：若金额对应 ${per} 个 ${unit}（多数供应商如此标价），请写 "per": ${per}；若对应一个，请写 "per": 1`,
  ],
  [/^must be of (.+\..+)$/, (domains) => `必须是 ${domains.replaceAll(' or ', ' 或 ')} 的邮箱`],
  [
    /^the provider names itself (.+): write the issuer exactly like this$/,
    (own) => `提供方自称 ${own}：请按其写法填写签发方`,
  ],
  [/^the account (\S+) does not exist$/, (id) => `账户 ${id} 不存在`],
  [
    /^(\S+) is not a member of the account who may make calls$/,
    (email) => `${email} 不是该账户中可以调用的成员`,
  ],
  [/^invalid token: it (.+)$/, (why) => `令牌无效：${TOKEN_PROBLEMS[why] ?? why}`],
  [/^must be a string$/, () => '必须是文本'],
  [/^must be a whole number$/, () => '必须是整数'],
  [/^must be a number$/, () => '必须是数字'],
  [/^must be true or false$/, () => '必须是 true 或 false'],
  [/^must be an? (?:array|object)$/, () => '格式不正确'],
  [/^must be a time in ISO 8601$/, () => '必须是 ISO 8601 时间'],
  [/^must be a time such as (\S+) or (\S+)$/, (day, time) => `必须是时间，例如 ${day} 或 ${time}`],
  [/^must be an address such as (\S+)$/, (example) => `必须是网址，例如 ${example}`],
  [/^needs at least (\d+) characters$/, (n) => `至少 ${n} 个字符`],
  [/^has more than (\d+) characters$/, (n) => `超过 ${n} 个字符`],
  [/^at most (\S+) ([A-Z]{3}) is owed$/, (n, currency) => `欠款最多 ${n} ${currency}`],
  [/^at most (\S+) ([A-Z]{3}) can be taken$/, (n, currency) => `最多可扣除 ${n} ${currency}`],
  [/^this account is in ([A-Z]{3})$/, (currency) => `此账户的币种是 ${currency}`],
  [/^this code is for accounts in ([A-Z]{3})$/, (currency) => `此兑换码仅限 ${currency} 账户使用`],
  [
    /^chat\/completions (\w+), responses (\w+), messages (\w+)(; set responses to .+)?$/,
    (chat, responses, messages, hint) => {
      const word = (served: string) => ({ yes: '有', no: '无' })[served] ?? '未知'
      const texts = [
        `chat/completions：${word(chat)}`,
        `responses：${word(responses)}`,
        `messages：${word(messages)}`,
      ]
      const advice = hint ? '；请将“Responses API”设为 translate' : ''
      return `${texts.join('，')}${advice}`
    },
  ],
  [
    /^earlier prices return at ([^ ]+): .+$/,
    (time) => `此前的价格将于 ${time} 恢复：请在此之前结束本计划，或先撤回该变更`,
  ],
  [/^there is a channel "(.+)" already: .+$/, (id) => `渠道“${id}”已存在：请换一个名称，或修改它`],
  [/^there is a model "(.+)" already: .+$/, (id) => `模型“${id}”已存在：请换一个名称，或修改它`],
  [
    /^nothing is at (.+) \(404\): does the address \(base_url\) end as .+$/,
    (tried) =>
      `${tried.replace(' and ', '、')} 不存在（404）：API 地址是否如供应商文档所写，通常以 /v1 结尾？`,
  ],
  [/^the vendor accepts the key at (.+)$/, (tried) => `供应商接受该密钥：${tried}`],
  [
    /^the vendor refuses the key \((\d+)\)(.*)$/,
    (status, why) => `供应商拒绝该密钥（${status}）${why}`,
  ],
  [/^leads to an address that is not public \(.+\)$/, () => '指向非公网地址'],
  [/^uses port (\d+), which is not allowed$/, (port) => `不允许使用端口 ${port}`],
  [/^connection: (\S+)$/, (code) => `连接失败：${code}`],
  [/^the vendor answered (\d+)(.*)$/, (status, why) => `供应商返回 ${status}${why}`],
  [
    /^(?:not tested: )?the vendor has no list of models; (.+) answered (\d+)$/,
    (tried, status) => `供应商没有模型列表；${tried.replace(' and ', '、')} 返回 ${status}`,
  ],
  [/^the answer of (.+) is not a list of models$/, (tried) => `${tried} 返回的不是模型列表`],
  [/^there is no channel "(.+)"$/, (id) => `没有渠道“${id}”`],
  [/^the receiver answered (\d+)(.*)$/, (status, rest) => `接收方返回 ${status}${rest}`],
  [/^a user may have at most (\d+) passkeys$/, (n) => `最多 ${n} 个通行密钥`],
  [
    /^sign in as (\S+), then open the invitation again$/,
    (email) => `请以 ${email} 登录，再打开邀请`,
  ],
  [
    /^the model '(.+?)' does not exist here: (?:did you mean '(.+)'\? )?GET .*$/,
    (model, meant) => `模型“${model}”在此不存在${meant ? `，是否为“${meant}”？` : ''}`,
  ],
  [
    /^this call does not fit the budget (\S+?)(?:, which resets at (\S+))?$/,
    (id, at) => `此调用超出预算 ${id}${at ? `，该预算于 ${at} 重置` : ''}`,
  ],
  [
    /^no key of account \S+ has the tag (.+), so .+$/,
    (tag) => `没有密钥带有标签 ${tag}：请先设为某个密钥的标签或必需标签`,
  ],
  [
    /^account \S+ has no (key|member) (.+)$/,
    (noun, name) => `此账户没有${NOUNS[noun] ?? noun} ${name}`,
  ],
  [
    /^at most (\d+) budgets apply to one call: delete one of (.+) first$/,
    (n, ids) => `一次调用最多受 ${n} 个预算限制：请先删除其中之一：${ids.replaceAll(', ', '、')}`,
  ],
  [
    /^an account has at most (\d+) budgets: delete one first$/,
    (n) => `每个账户最多 ${n} 个预算：请先删除一个`,
  ],
  [
    /^price list (\S+): below the upstream cost: (.+)$/,
    (id, prices) => `价目表 ${id}：低于上游成本：${prices}`,
  ],
  [/^there is no price list (\S+): .+$/, (id) => `没有价目表“${id}”：请选择其他价目表，或先创建它`],
  [/^there is no model "(.+)"$/, (id) => `没有模型“${id}”`],
  [/^there is no model '(.+)': .+$/, (id) => `没有模型“${id}”：请从模型列表中选择`],
  [
    /^a budget of (the whole account|each end user) has none: .+$/,
    (who) =>
      `${who === 'each end user' ? '每个终端用户的' : '整个账户的'}预算不需要对象：请留空，或选择密钥、成员或标签`,
  ],
  [
    /^(\S+) is in ([A-Z]{3}), this account pays in ([A-Z]{3})$/,
    (id, of, own) => `价目表“${id}”以 ${of} 计价，此账户以 ${own} 付款`,
  ],
  [/^there is a price list "(.+)" already: .+$/, (id) => `价目表“${id}”已存在：请换一个名称`],
  [/^(\S+) is still the list of (\S+ \S+): .+$/, (id) => `价目表“${id}”仍有账户或其他价目表使用`],
  [
    /^(.+) is sold in ([A-Z]{3}), this account pays in ([A-Z]{3})$/,
    (model, sold, own) => `${model} 以 ${sold} 计价，此账户以 ${own} 付款`,
  ],
]

const TOKEN_PROBLEMS: Readonly<Record<string, string>> = {
  'has expired': '已过期',
  'has a signature that does not fit': '签名不符',
  'is of an issuer that is not known here': '签发方在此未知',
  'is for another audience ("aud")': '受众（aud）不符',
  'cannot be verified': '无法验证',
}

const SIDES: Readonly<Record<string, string>> = {
  'at least': '至少',
  'at most': '最多',
  exactly: '必须正好',
}

/** Returns the text itself where it has no translation. */
export function toChinese(text: string): string {
  return translate(text) ?? translateField(text) ?? text
}

function translate(text: string): string | undefined {
  const exact = TEXTS[text]
  if (exact !== undefined) return exact
  for (const [pattern, word] of PATTERNS) {
    const match = pattern.exec(text)
    if (match) return word(...match.slice(1))
  }
  return undefined
}

/** `spend_limit: must be …` keeps the name of its field. */
function translateField(text: string): string | undefined {
  const [, field, problem] = /^([\w.[\]-]+): (.+)$/s.exec(text) ?? []
  const translated = problem === undefined ? undefined : translate(problem)
  return translated === undefined ? undefined : `${field}: ${translated}`
}

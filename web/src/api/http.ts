/**
 * Talking to the server: requests, errors, entering, and one resumable stream of events.
 *
 * Two things prove who asks: a cookie that no script can read, and a key that only this origin (its port too) can read.
 * Cookies do not know ports, so the cookie alone would also go to any other program on this machine that a browser is
 * pointed at; it is worth nothing without the key.
 */

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

/** A sentence of the server: known by its code, with both languages as fallback. */
export interface Message {
  code: string;
  /** A place that holds a sentence of its own holds a whole message. */
  params: Record<string, string | Message>;
  en: string;
  zh: string;
}

/** What went wrong, as the server says it; `code` is what the page translates. */
export class ApiError extends Error {
  constructor(
    /** HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    readonly code: string,
    readonly params: Record<string, string | Message>,
    /** The sentence of the server, in both languages: `said(error)` shows it. */
    readonly en: string,
    readonly zh: string,
    /** The whole answer: 409 `already_decided` carries the card as `approval`. */
    readonly body: Record<string, unknown> = {},
  ) {
    super(en);
    this.name = 'ApiError';
  }
}

const KEY = 'holdfast.key';

export const hasKey = (): boolean => localStorage.getItem(KEY) !== null;

function headers(more: Record<string, string> = {}): Record<string, string> {
  return { 'x-holdfast': localStorage.getItem(KEY) ?? 'none', ...more };
}

function address(path: string, query?: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === '') continue;
    if (Array.isArray(value)) for (const one of value) search.append(name, one);
    else search.append(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

type LockedOut = (error: ApiError) => void;
let lockedOut: LockedOut = () => {};
/** Called whenever the server does not know this page (any more): show the entry screen. */
export function onLockedOut(handler: LockedOut): void {
  lockedOut = handler;
}

const unreachable = () => new ApiError(0, 'unreachable', {}, 'The server cannot be reached.', '无法连接服务器。');

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  const error = (body['error'] ?? {}) as Partial<Message>;
  const problem = new ApiError(
    response.status,
    error.code ?? `http_${response.status}`,
    error.params ?? {},
    error.en ?? response.statusText,
    error.zh ?? `服务器回答 ${response.status}`,
    body,
  );
  if (response.status === 401) lockedOut(problem);
  throw problem;
}

async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  let response: Response;
  try {
    response = await fetch(path, { method, headers: headers(type), ...given, ...(signal ? { signal } : {}) });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw unreachable();
  }
  return answer<T>(response);
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  send<T>('GET', address(path, query), undefined, signal);
export const post = <T>(path: string, body: unknown = {}, query?: Query): Promise<T> =>
  send<T>('POST', address(path, query), body);
export const put = <T>(path: string, body: unknown = {}): Promise<T> => send<T>('PUT', path, body);
export const del = <T>(path: string, body: unknown = {}): Promise<T> => send<T>('DELETE', path, body);

/** A path segment from any text. */
export const seg = (text: string): string => encodeURIComponent(text);

/** A file's bytes, with progress (0 to 1). */
export function upload<T>(path: string, query: Query, file: Blob, progress: (share: number) => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', address(path, query));
    for (const [name, value] of Object.entries(headers({ 'content-type': 'application/octet-stream' })))
      request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => reject(unreachable());
    request.onload = () =>
      answer<T>(new Response(request.responseText, { status: request.status, statusText: request.statusText })).then(
        resolve,
        reject,
      );
    request.send(file);
  });
}

// ---------------------------------------------------------------- entering

export interface Entered {
  device: string;
  key: string;
}

/** Exchange a one-time code (of a link or typed from another screen) for this browser's own token. */
export async function enter(code: string, name = ''): Promise<Entered> {
  const entered = await post<Entered>('/api/enter', { code, name });
  localStorage.setItem(KEY, entered.key);
  return entered;
}

/**
 * Take the code out of `/#enter=CODE`, if the page was opened by a one-time link; call it before anything else.
 * Throws `ApiError` (`code_used`, `code_unknown`, `code_expired`, `too_many_attempts`) when the link is no good, unless
 * this browser is known already: then an old link simply opens the page.
 */
export async function enterByLink(): Promise<boolean> {
  const code = /^#enter=([\w-]+)/.exec(location.hash)?.[1];
  if (!code) return false;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    await enter(code);
  } catch (error) {
    if (!(error instanceof ApiError) || !hasKey()) throw error;
    await get('/api/hello');
  }
  return true;
}

export async function leave(): Promise<void> {
  await post('/api/leave');
  localStorage.removeItem(KEY);
}

// ---------------------------------------------------------------- events

/** `lost`: it will try again by itself. `locked`: the server does not know us. */
export type StreamState = 'connecting' | 'live' | 'lost' | 'locked' | 'closed';

export interface StreamEvent {
  type: string;
  data: unknown;
  /** Rises with every event, also from one server process to the next; 0 for `ping` and for what is told afterwards. */
  no: number;
}

type Handler = (event: StreamEvent) => void;

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;
const SILENCE = 40_000;

/**
 * One connection for the whole page. After a break it goes on behind the last event it saw. When the server has only the
 * record of what came in between (it was restarted, or the page was away for long), that is told first and then
 * `resumed`: ask again for what no record holds. When it has not even that, `reset` says so: load everything anew.
 */
export class LiveStream {
  state: StreamState = 'closed';
  private lastId = '';
  private handlers = new Map<string, Set<Handler>>();
  private watchers = new Set<(state: StreamState) => void>();
  private abort: AbortController | null = null;
  private pause = FIRST_PAUSE;
  private wake: () => void = () => {};

  constructor(private readonly path = '/api/events') {}

  /** `*` hears everything. Returns what takes the handler away again. */
  on(type: string, handler: Handler): () => void {
    const known = this.handlers.get(type) ?? new Set();
    this.handlers.set(type, known.add(handler));
    return () => known.delete(handler);
  }

  onState(watcher: (state: StreamState) => void): () => void {
    this.watchers.add(watcher);
    watcher(this.state);
    return () => this.watchers.delete(watcher);
  }

  start(): void {
    if (this.abort) return;
    this.abort = new AbortController();
    addEventListener('online', this.hurry);
    document.addEventListener('visibilitychange', this.hurry);
    void this.run(this.abort.signal);
  }

  close(): void {
    this.abort?.abort();
    this.abort = null;
    removeEventListener('online', this.hurry);
    document.removeEventListener('visibilitychange', this.hurry);
    this.become('closed');
  }

  private readonly hurry = (): void => {
    if (document.visibilityState === 'visible') {
      this.pause = FIRST_PAUSE;
      this.wake();
    }
  };

  private become(state: StreamState): void {
    if (this.state === state) return;
    this.state = state;
    for (const watcher of this.watchers) watcher(state);
  }

  private async run(closed: AbortSignal): Promise<void> {
    while (!closed.aborted) {
      this.become(this.lastId ? 'lost' : 'connecting');
      const known = await this.listen(closed).catch(() => true);
      if (closed.aborted) return;
      if (!known) {
        this.become('locked');
        this.abort = null;
        return;
      }
      this.become('lost');
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, this.pause * (0.75 + Math.random() / 2));
      });
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    }
  }

  /** Until the connection ends; false when the server does not know us. */
  private async listen(closed: AbortSignal): Promise<boolean> {
    const link = new AbortController();
    const end = (): void => link.abort();
    closed.addEventListener('abort', end);
    let timer = setTimeout(end, SILENCE);
    try {
      const more: Record<string, string> = this.lastId ? { 'last-event-id': this.lastId } : {};
      const response = await fetch(this.path, { headers: headers(more), signal: link.signal, cache: 'no-store' });
      if (response.status === 401) {
        await answer(response).catch(() => {});
        return false;
      }
      if (!response.ok || !response.body) return true;
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      let text = '';
      this.pause = FIRST_PAUSE;
      this.become('live');
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return true;
        clearTimeout(timer);
        timer = setTimeout(end, SILENCE);
        text += decoder.decode(value, { stream: true });
        let at: number;
        while ((at = text.indexOf('\n\n')) >= 0) {
          this.take(text.slice(0, at));
          text = text.slice(at + 2);
        }
      }
    } finally {
      clearTimeout(timer);
      closed.removeEventListener('abort', end);
      link.abort();
    }
  }

  private take(block: string): void {
    let type = 'message';
    let data = '';
    let id = '';
    for (const line of block.split('\n')) {
      if (line.startsWith('event: ')) type = line.slice(7);
      else if (line.startsWith('data: ')) data = line.slice(6);
      else if (line.startsWith('id: ')) id = line.slice(4);
    }
    if (!data) return;
    if (id) this.lastId = id;
    const event: StreamEvent = { type, data: JSON.parse(data) as unknown, no: Number(id.split('-')[1] ?? 0) };
    for (const name of [type, '*'])
      for (const handler of this.handlers.get(name) ?? []) {
        try {
          handler(event);
        } catch (error) {
          console.error(error);
        }
      }
  }
}

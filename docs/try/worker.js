// clew in a worker. make try puts it behind packages/js/index.js, in one text.
let told = 0; // when progress was told last, in milliseconds

onmessage = async ({ data }) => {
  try {
    if (data.module) {
      await load(data.module);
      return postMessage({ ready: true });
    }
    const history = data.history instanceof Blob ? await data.history.arrayBuffer() : data.history;
    const progress = (progress) => {
      if (!progress.operations && performance.now() - told < 50) return;
      told = performance.now();
      postMessage({ progress });
    };
    postMessage({ result: await check(history, data.options, { ...data.more, progress }) });
  } catch (error) {
    postMessage({ error: { ...error, message: error.message } });
  }
};

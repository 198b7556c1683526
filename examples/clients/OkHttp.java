import java.io.IOException;
import java.util.UUID;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

class Calls {
  static final OkHttpClient client = new OkHttpClient.Builder().addInterceptor(Calls::repeat).build();

  static Response repeat(Interceptor.Chain chain) throws IOException {
    for (int repetitions = 4; ; repetitions--) {
      var response = chain.proceed(chain.request());
      boolean isTemporary = response.code() == 429 || response.code() == 503;
      if (!isTemporary || repetitions == 0) return response;
      var seconds = Long.parseLong(response.header("Retry-After", "1"));
      response.close();
      try {
        Thread.sleep(1_000 * seconds);
      } catch (InterruptedException interruption) {
        throw new IOException(interruption);
      }
    }
  }

  static String call(String method, String path, String json) throws IOException {
    var request = new Request.Builder()
        .url(System.getenv("API") + path)
        .method(method, json == null ? null : RequestBody.create(json, MediaType.get("application/json")))
        .header("Authorization", "Bearer " + System.getenv("API_KEY"))
        .header("Idempotency-Key", UUID.randomUUID().toString())
        .build();
    try (var response = client.newCall(request).execute()) {
      return response.code() + " " + response.body().string();
    }
  }

  public static void main(String[] args) throws IOException {
    System.out.println(call("GET", "/v1/me", null));
    System.out.println(call("POST", "/v1/webhooks", "{\"url\":\"https://example.com/webhooks\",\"events\":[\"*\"]}"));
    System.out.println(call("POST", "/v1/webhooks", "{\"url\":\"http://example.com/\",\"events\":[\"*\"]}"));
    client.dispatcher().executorService().shutdown();
    client.connectionPool().evictAll();
  }
}

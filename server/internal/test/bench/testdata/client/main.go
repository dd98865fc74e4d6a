// Command client is a gRPC client that prints what it receives of a game, for comparison.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func main() {
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	stream, err := pb.NewGameServiceClient(conn).Watch(context.Background(), &pb.WatchRequest{GameId: os.Args[2]})
	if err != nil {
		log.Fatal(err)
	}
	for {
		update, err := stream.Recv()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(update)
	}
}
